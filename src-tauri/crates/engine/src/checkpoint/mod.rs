//! What is on disk: config, tensor names and shapes, quantization, the MTP head.
