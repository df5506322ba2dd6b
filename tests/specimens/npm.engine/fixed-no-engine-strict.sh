# The check is only a warning again.
set -e
npm install --engine-strict=false
npm ci --engine-strict=false
node -p 'require("modern")'
