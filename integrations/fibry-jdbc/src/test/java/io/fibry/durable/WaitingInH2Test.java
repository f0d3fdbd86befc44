package io.fibry.durable;

class WaitingInH2Test extends WaitingContract {
  WaitingInH2Test() {
    super(InDatabases.h2());
  }
}
