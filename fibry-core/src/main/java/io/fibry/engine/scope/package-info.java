/**
 * The scopes: which actors a scope owns, and how they end. A scope makes actors with
 * {@code engine.actor}, and uses them through the types of {@code engine.cell}. Begin with
 * {@link io.fibry.engine.scope.ScopeState}.
 */
package io.fibry.engine.scope;
