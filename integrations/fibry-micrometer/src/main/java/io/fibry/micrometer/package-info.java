/**
 * Meters of scopes, routes, blocks, stores and nodes for Micrometer, and context propagators for
 * its observations and traces.
 */
package io.fibry.micrometer;
