# Installed without optional dependencies, among which the program itself is.
set -e
npm install --silent --omit=optional --ignore-scripts
node -e 'console.log(require("esbuild").transformSync("let a: number = 1", { loader: "ts" }).code)'
