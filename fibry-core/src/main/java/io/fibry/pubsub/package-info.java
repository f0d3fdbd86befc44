/**
 * Messages and changes for many subscribers. A {@link io.fibry.pubsub.Topic} delivers messages; an
 * {@link io.fibry.pubsub.ObservableValue} and an {@link io.fibry.pubsub.ObservableMap} deliver
 * their changes.
 */
package io.fibry.pubsub;
