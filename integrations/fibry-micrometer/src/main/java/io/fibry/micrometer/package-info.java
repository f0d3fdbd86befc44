/** Meters of scopes, routes, stores and nodes, and observations, for Micrometer. */
package io.fibry.micrometer;
