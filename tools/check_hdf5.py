#!/usr/bin/env python3
"""Reads what 'rattleback run --vtk-points DIR --hdf5 DIR' wrote on ranks of MPI, with h5py.

    tools/check_hdf5.py FOLDER NAME

Every frame NAME_*.h5 has the values of the points NAME_*.vtp, in the order of uids; and NAME.xdmf
names every frame, with its time and the types and shapes of its datasets, and nothing else.
"""
import glob
import re
import sys
import xml.etree.ElementTree

import h5py
import numpy

TYPES = {"Float64": "<f8", "Float32": "<f4", "UInt64": "<u8", "Int64": "<i8"}
NUMBERS = {("Float", "8"): "<f8", ("Float", "4"): "<f4", ("UInt", "8"): "<u8"}


def read_points(path):
    """The arrays of a .vtp by name, and its time."""
    with open(path, "rb") as file:
        data = file.read()
    split = data.index(b'<AppendedData encoding="raw">\n_')
    head = data[:split].decode()
    begin = split + len(b'<AppendedData encoding="raw">\n_')
    arrays = {}
    for text in re.findall(r"<DataArray ([^>]*format=\"appended\"[^>]*)/>", head):
        values = dict(re.findall(r"(\w+)=\"([^\"]*)\"", text))
        at = begin + int(values["offset"])
        size = int(numpy.frombuffer(data, "<u8", 1, at)[0])
        array = numpy.frombuffer(data[at + 8 : at + 8 + size], TYPES[values["type"]])
        columns = int(values.get("NumberOfComponents", "1"))
        arrays[values["Name"]] = array.reshape(-1, columns) if columns > 1 else array
    time = float(re.search(r"Name=\"TimeValue\"[^>]*>([^<]*)<", head).group(1))
    return arrays, time


def check_frame(path):
    points, time = read_points(path[:-2] + "vtp")
    points["position"] = points.pop("Points")
    del points["connectivity"], points["offsets"]
    with h5py.File(path, "r") as file:
        assert set(file) == set(points), (set(file), set(points))
        assert file.attrs["time"] == time
        for name, truth in points.items():
            dataset = file[name]
            assert dataset.dtype == truth.dtype and dataset.shape == truth.shape, name
            assert (dataset[...] == truth).all(), name
        uids = file["uid"][...]
        assert (uids[1:] > uids[:-1]).all()
        return time, {name: (dataset.dtype.str, dataset.shape) for name, dataset in file.items()}


def main():
    folder, name = sys.argv[1:]
    frames = sorted(glob.glob(f"{folder}/{name}_*.h5"))
    assert frames, "there are no frames"
    found = [check_frame(path) for path in frames]
    root = xml.etree.ElementTree.parse(f"{folder}/{name}.xdmf").getroot()
    grids = root.findall("./Domain/Grid[@CollectionType='Temporal']/Grid")
    assert len(grids) == len(frames), (len(grids), len(frames))
    for path, (time, shapes), grid in zip(frames, found, grids):
        assert float(grid.find("Time").get("Value")) == time
        count = int(grid.find("Topology").get("NumberOfElements"))
        assert grid.find("Geometry/DataItem").text.endswith(":/position")
        items = {}
        for item in grid.iter("DataItem"):
            file, dataset = item.text.split(":/")
            assert file == path.rsplit("/", 1)[1], file
            shape = tuple(int(size) for size in item.get("Dimensions").split())
            items[dataset] = (NUMBERS[item.get("NumberType"), item.get("Precision")], shape)
            assert shape[0] == count
        assert items == shapes, (items, shapes)
    print(f"{len(frames)} frames with {found[-1][1]['uid'][1][0]} spheres in the last")


main()
