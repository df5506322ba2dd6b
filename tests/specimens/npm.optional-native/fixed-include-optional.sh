# The same tree, with what was left out.
set -e
npm install --silent --include=optional
node -e 'console.log(require("esbuild").transformSync("let a: number = 1", { loader: "ts" }).code)'
