"""glTF 2.0, and VRM, which is glTF with a table of bones: one module per part of the format."""

from kinema.io.gltf.bones import bones as bones
from kinema.io.gltf.document import Document as Document
from kinema.io.gltf.reader import load as load
from kinema.io.gltf.reader import load_bytes as load_bytes
from kinema.io.gltf.reader import read as read
from kinema.io.gltf.writer import encode as encode
from kinema.io.gltf.writer import save as save
