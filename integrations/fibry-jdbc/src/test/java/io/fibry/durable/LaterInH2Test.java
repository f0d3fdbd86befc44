package io.fibry.durable;

class LaterInH2Test extends LaterContract {
  LaterInH2Test() {
    super(InDatabases.h2());
  }
}
