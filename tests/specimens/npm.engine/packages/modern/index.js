module.exports = "modern";
