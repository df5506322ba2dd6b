"""A training script of TensorFlow 1."""

import tensorflow as tf

x = tf.placeholder(tf.float32, (None, 2))
with tf.Session() as session:
    print("sum", session.run(tf.reduce_sum(x), {x: [[1.0, 2.0]]}))
