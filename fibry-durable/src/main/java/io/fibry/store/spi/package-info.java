/** For authors of stores: the interface that actors call, and classes that several stores share. */
package io.fibry.store.spi;
