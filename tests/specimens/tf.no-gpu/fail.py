"""An operation is bound to a GPU, and there is none."""

import tensorflow as tf

tf.config.set_soft_device_placement(False)
with tf.device("/GPU:0"):
    print("sum", float(tf.reduce_sum(tf.ones(4))))
