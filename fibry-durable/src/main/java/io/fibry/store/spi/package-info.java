/** For authors of stores: the interface that actors call, and parts that several stores share. */
package io.fibry.store.spi;
