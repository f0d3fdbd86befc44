/**
 * Checks the files of a store that is not open, and copies their intact part.
 * {@link io.fibry.store.folder.repair.SalvagePlan} finds the defects and the lost turns, and
 * {@link io.fibry.store.folder.repair.LogSalvage} writes the copy. Not exported.
 */
package io.fibry.store.folder.repair;
