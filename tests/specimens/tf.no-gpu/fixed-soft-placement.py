"""TensorFlow may place it elsewhere."""

import tensorflow as tf

tf.config.set_soft_device_placement(True)
with tf.device("/GPU:0"):
    print("sum", float(tf.reduce_sum(tf.ones(4))))
