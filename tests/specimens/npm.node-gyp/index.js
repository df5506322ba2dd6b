module.exports = require("./build/Release/sum.node");
