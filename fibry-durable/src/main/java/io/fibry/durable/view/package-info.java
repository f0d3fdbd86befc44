/**
 * Views of stored events. {@link io.fibry.durable.view.EventViewReader} reads the events of a kind.
 * {@link io.fibry.durable.view.StoredViews} reads and writes the offsets of named views. Not
 * exported.
 */
package io.fibry.durable.view;
