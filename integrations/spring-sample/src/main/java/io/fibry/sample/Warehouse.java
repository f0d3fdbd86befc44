package io.fibry.sample;

/** A slow resource of low capacity, like a database with few connections. */
interface Warehouse {
  Receipt fetch(Order order) throws Exception;
}
