/**
 * The connection of a program to NATS. {@link io.fibry.nats.connection.NatsConnection} has its
 * requests and subscriptions, and {@link io.fibry.nats.connection.Permissions} has the subjects
 * that the role of the program permits. Not exported.
 */
package io.fibry.nats.connection;
