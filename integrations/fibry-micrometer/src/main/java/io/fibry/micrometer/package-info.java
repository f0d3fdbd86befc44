/** Meters of scopes, and observations that follow messages, for Micrometer. */
package io.fibry.micrometer;
