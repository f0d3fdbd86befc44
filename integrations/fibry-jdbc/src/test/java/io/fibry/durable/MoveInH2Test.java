package io.fibry.durable;

class MoveInH2Test extends MoveContract {
  MoveInH2Test() {
    super(InDatabases.h2());
  }
}
