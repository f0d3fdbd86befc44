package io.fibry.web;

/** The slow resource behind the clerk of the shop. */
interface Warehouse {
  /** Returns the receipt for an item. */
  String fetch(String item) throws Exception;
}
