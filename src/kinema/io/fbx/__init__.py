"""FBX, binary and text, versions 6100 to 7700: nodes, takes, meshes and skins of a character. It is not written.

One module per part of the format: `binary` and `ascii` make a tree of elements, `document` finds the objects in it and
what is connected to what, and `reader` lists what is made of them.
"""

from kinema.io.fbx.document import FbxDocument as FbxDocument
from kinema.io.fbx.document import detect as detect
from kinema.io.fbx.limits import LARGEST_FILE as LARGEST_FILE
from kinema.io.fbx.reader import decode as decode
from kinema.io.fbx.reader import read as read
