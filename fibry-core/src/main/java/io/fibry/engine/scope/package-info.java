/**
 * Which actors a scope owns, and how they end. Makes them by {@code engine.actor}, knows them as
 * {@code engine.cell}. Begin with {@link io.fibry.engine.scope.ScopeState}.
 */
package io.fibry.engine.scope;
