/** Meters of scopes and stores, and observations that follow messages, for Micrometer. */
package io.fibry.micrometer;
