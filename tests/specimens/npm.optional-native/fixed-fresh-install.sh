# The tree anew, with its optional dependencies.
set -e
rm -rf node_modules package-lock.json
npm install --silent
node -e 'console.log(require("esbuild").transformSync("let a: number = 1", { loader: "ts" }).code)'
