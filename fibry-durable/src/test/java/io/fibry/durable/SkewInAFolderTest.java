package io.fibry.durable;

class SkewInAFolderTest extends SkewContract {
  SkewInAFolderTest() {
    super(Folders::new);
  }
}
