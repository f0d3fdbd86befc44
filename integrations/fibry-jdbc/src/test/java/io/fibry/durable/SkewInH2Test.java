package io.fibry.durable;

class SkewInH2Test extends SkewContract {
  SkewInH2Test() {
    super(InDatabases.h2());
  }
}
