/** The interface between the engine and a simulation. It depends on no other package. */
package io.fibry.engine.world;
