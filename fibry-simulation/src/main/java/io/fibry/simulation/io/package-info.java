/** The network and the disks that a simulated program sees. Internal. */
@NullMarked
package io.fibry.simulation.io;

import org.jspecify.annotations.NullMarked;
