/**
 * One stream of JetStream: {@link io.fibry.nats.stream.JetStreamLog} writes, reads and deletes
 * its messages, and repeats requests while servers do not answer. Not exported.
 */
package io.fibry.nats.stream;
