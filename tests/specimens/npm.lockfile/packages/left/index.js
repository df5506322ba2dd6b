module.exports = "left";
