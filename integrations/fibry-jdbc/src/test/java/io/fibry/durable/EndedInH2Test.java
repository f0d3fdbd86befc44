package io.fibry.durable;

class EndedInH2Test extends EndedContract {
  EndedInH2Test() {
    super(InDatabases.h2());
  }
}
