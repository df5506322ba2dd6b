# The native part was built by Node 16 (its headers number their modules 93), and the machine's Node was upgraded since.
set -e
headers="$(dirname "$(dirname "$(readlink -f "$(command -v node)")")")/include/node"
mkdir -p build/Release
g++ -shared -fPIC -std=c++20 -w -DNODE_EMBEDDER_MODULE_VERSION=93 -DNODE_GYP_MODULE_NAME=sum -DBUILDING_NODE_EXTENSION -I"$headers" sum.cc -o build/Release/sum.node
node -p 'require("./index.js").three'
