/** Actors on several machines: {@link io.fibry.cluster.Cluster}. */
package io.fibry.cluster;
