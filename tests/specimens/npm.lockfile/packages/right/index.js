module.exports = "right";
