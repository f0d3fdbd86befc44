package io.fibry.durable;

class ClockSkewInH2Test extends ClockSkewContract {
  ClockSkewInH2Test() {
    super(DatabaseStores.h2());
  }
}
