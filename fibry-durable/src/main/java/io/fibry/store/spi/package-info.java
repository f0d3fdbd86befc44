/** For authors of stores: the parts that several stores share. */
package io.fibry.store.spi;
