// Written for lodash 3; the tree holds lodash 4, which took the alias away.
const _ = require("lodash");

console.log(_.pluck([{ name: "adam" }, { name: "sgd" }], "name").join());
