/** Events of stores and durable actors for Java Flight Recorder. */
package io.fibry.store.recorder;
