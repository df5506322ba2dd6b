// What webpack 4 does for the name of every module.
const { createHash } = require("node:crypto");

console.log(createHash("md4").update("module").digest("hex").length);
