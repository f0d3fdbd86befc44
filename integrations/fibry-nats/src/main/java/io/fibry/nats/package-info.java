/** A network for clusters, over NATS servers: {@link io.fibry.nats.NatsNetwork}. */
package io.fibry.nats;
