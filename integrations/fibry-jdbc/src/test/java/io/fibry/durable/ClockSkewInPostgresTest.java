package io.fibry.durable;

class ClockSkewInPostgresTest extends ClockSkewContract {
  ClockSkewInPostgresTest() {
    super(DatabaseStores.postgres());
  }
}
