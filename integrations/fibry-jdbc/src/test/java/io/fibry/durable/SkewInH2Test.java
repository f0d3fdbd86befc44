package io.fibry.durable;

class SkewInH2Test extends ClockSkewContract {
  SkewInH2Test() {
    super(InDatabases.h2());
  }
}
