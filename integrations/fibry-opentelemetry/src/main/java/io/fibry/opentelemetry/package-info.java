/**
 * Traces of messages, and metrics of scopes, servers, blocks, stores and nodes, by OpenTelemetry.
 */
package io.fibry.opentelemetry;
