package io.fibry.sample;

/** What is slow and scarce: as a database with a few connections. */
interface Warehouse {
  Receipt fetch(Order order) throws Exception;
}
