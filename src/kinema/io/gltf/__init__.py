"""glTF 2.0, and VRM, which is glTF with a table of bones: one module per part of the format."""

from kinema.io.gltf.document import Document as Document
from kinema.io.gltf.document import detect as detect
from kinema.io.gltf.limits import LARGEST_FILE as LARGEST_FILE
from kinema.io.gltf.reader import decode as decode
from kinema.io.gltf.reader import read as read
from kinema.io.gltf.writer import encode as encode
from kinema.io.gltf.writer import pack as pack
