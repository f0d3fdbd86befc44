/**
 * The stored forms of messages and turns, and the objects that all actors of a store share.
 * {@link io.fibry.durable.storage.Mail} is the form of a waiting message,
 * {@link io.fibry.durable.storage.Body} is the form of a turn, and
 * {@link io.fibry.durable.storage.StoreRegistry} lists the actors of this process at one store. Not
 * exported.
 */
package io.fibry.durable.storage;
