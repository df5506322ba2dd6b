"""The same script through the compatibility module."""

import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()

x = tf.placeholder(tf.float32, (None, 2))
with tf.Session() as session:
    print("sum", session.run(tf.reduce_sum(x), {x: [[1.0, 2.0]]}))
