package io.fibry.sample;

/** A slow and scarce resource, like a database with few connections. */
interface Warehouse {
  Receipt fetch(Order order) throws Exception;
}
