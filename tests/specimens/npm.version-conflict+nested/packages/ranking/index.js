const _ = require("lodash");

module.exports = (runs) => _.pluck(_.sortBy(runs, "loss"), "name");
