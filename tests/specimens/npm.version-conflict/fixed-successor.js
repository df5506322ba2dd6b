// What lodash 4 has instead.
const _ = require("lodash");

console.log(_.map([{ name: "adam" }, { name: "sgd" }], "name").join());
