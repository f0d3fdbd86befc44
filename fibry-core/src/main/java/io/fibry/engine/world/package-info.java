/** The seam for a simulation, and nothing of the library. */
package io.fibry.engine.world;
